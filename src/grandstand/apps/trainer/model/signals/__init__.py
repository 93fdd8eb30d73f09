"""What the words of an answer show of the thinking behind it: signs of reasoning, never truth."""

from grandstand.apps.trainer.model.signals.assessment import (
    SIGNALS_VERSION,
    Assessed,
    Assessment,
    assess,
)

__all__ = ["SIGNALS_VERSION", "Assessed", "Assessment", "assess"]
