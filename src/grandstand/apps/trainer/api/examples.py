"""Kept here: what the trainer's routes answer, by example."""

from __future__ import annotations

from typing import Any, Final

_AT: Final = "2026-11-16T12:00:00Z"

SCENARIO: Final[dict[str, Any]] = {
    "scenarioId": "two-hospitals",
    "title": "Two hospitals",
    "description": "A city has two hospitals. The newspaper ranks them by survival …",
    "difficulty": "beginner",
    "tags": ["health", "statistics"],
    "questions": [
        {
            "questionId": "q1",
            "text": "What would you want to know before you choose between them?",
            "type": "long",
            "targetWordCount": 150,
            "focusAreas": ["assumptions", "quantitative-reasoning"],
            "notes": None,
            "forecast": None,
        }
    ],
    "active": True,
    "createdAt": _AT,
    "estimatedMinutes": 20,
}
OFFERED: Final[dict[str, Any]] = {
    "scenario": SCENARIO,
    "progress": {
        "state": "done",
        "completed": 1,
        "bestScore": 71,
        "draftId": None,
        "lastAt": _AT,
    },
}
ATTEMPT: Final[dict[str, Any]] = {
    "attemptId": "550e8400-e29b-41d4-a716-446655440000",
    "userId": "owner",
    "scenarioId": "two-hospitals",
    "timestamp": _AT,
    "answers": [
        {
            "questionId": "q1",
            "questionText": "What would you want to know before you choose between them?",
            "answer": "Which patients each of them takes in, because …",
            "wordCount": 9,
            "probabilityPercent": None,
        }
    ],
    "evaluation": {
        "overallScore": 71,
        "dimensions": [{"name": "clarity", "score": 3, "rationale": ["The position is plain."]}],
        "feedback": "Say next time how sure you are.",
        "modelId": "offline-heuristic/1",
        "evaluatedAt": _AT,
    },
    "durationSeconds": 900,
    "status": "completed",
    "submittedAt": _AT,
    "evaluationState": None,
    "evaluationDetails": None,
    "evaluationFault": None,
    "secondOpinion": None,
    "overrides": None,
    "revisionOf": None,
}
PROFILE: Final[dict[str, Any]] = {
    "userId": "owner",
    "timestamp": _AT,
    "attemptCount": 15,
    "overallAverage": 76.5,
    "dimensions": [
        {
            "name": "clarity",
            "movingAverage": 3.2,
            "standardDeviation": 0.4,
            "trend": "stable",
            "recentScores": [3, 3, 4, 3, 3],
        }
    ],
    "weaknesses": [{"dimension": "assumptions", "score": 1.8, "gap": -1.4}],
    "improvements": [{"dimension": "logic", "improvement": 0.8, "from": 2.7, "to": 3.5}],
    "recommendations": ["List five things that must be true for the claim to hold."],
}
FORECASTS: Final[dict[str, Any]] = {
    "points": [
        {
            "attemptId": "550e8400-e29b-41d4-a716-446655440000",
            "scenarioId": "battery-plant-deadline",
            "questionId": "q2",
            "event": "The plant opens by the date announced.",
            "saidAt": _AT,
            "probabilityPercent": 30,
            "happened": False,
            "brierSoFar": 0.09,
        }
    ],
    "resolved": 1,
    "brier": 0.09,
    "calibration": [
        {
            "lowPercent": 30,
            "highPercent": 40,
            "count": 1,
            "meanPercent": 30.0,
            "happenedPercent": 0.0,
        }
    ],
}
