"""Kept here: invented names of horses, people and races, in katakana, kanji and letters."""

from __future__ import annotations

from typing import Final

from grandstand.simulators.racing.chance import chance

_BEGINNINGS: Final = """
アオ:Ao アカネ:Akane アルト:Alto イズミ:Izumi ウミノ:Umino エルム:Elm オルカ:Orca カゲロ:Kagero
カナタ:Kanata キララ:Kirara クオン:Kuon グラン:Gran コハク:Kohaku コズエ:Kozue サザン:Southern
サツキ:Satsuki シノノ:Shinono シズク:Shizuku スバル:Subaru セレス:Ceres ソラノ:Sorano
タカネ:Takane チトセ:Chitose ツバサ:Tsubasa テンノ:Tenno トキワ:Tokiwa ナギサ:Nagisa
ニシキ:Nishiki ヌーベ:Nube ネムノ:Nemuno ノドカ:Nodoka ハルカ:Haruka ヒナタ:Hinata フヅキ:Fuzuki
ヘリオ:Helio ホシノ:Hoshino マヒル:Mahiru ミナモ:Minamo ムラサ:Murasa メルロ:Merlo モミジ:Momiji
ヤマト:Yamato ユメノ:Yumeno ヨイノ:Yoino ライト:Light リンド:Lind ルミナ:Lumina レイン:Rain
ロマネ:Romane ワカバ:Wakaba アサギ:Asagi カスミ:Kasumi サクヤ:Sakuya タマノ:Tamano ナナミ:Nanami
ハヤテ:Hayate マドカ:Madoka ヤヨイ:Yayoi ラシン:Rashin イブキ:Ibuki
"""
_MIDDLES: Final = """
オウ:O ザ:the ニ:ni ヲ:wo デ:de ラ:la ル:le ミ:mi ド:do ファ:fa ソ:so シ:si エ:e ア:a ヴィ:vi
ゴー:go イン:in オン:on アン:an エル:el
"""
_ENDINGS: Final = """
アロー:Arrow ウィング:Wing エース:Ace オーラ:Aura カゼ:Kaze キング:King クイン:Queen グロウ:Glow
ケープ:Cape コード:Chord サンド:Sand シップ:Ship スター:Star セーラ:Sailor ソング:Song
ダンス:Dance チャイム:Chime ツリー:Tree テイル:Tail ドリム:Dream ナイト:Night ノーツ:Notes
ハート:Heart ビート:Beat フラワ:Flower ベル:Bell ホープ:Hope マーチ:March ミスト:Mist
ムーン:Moon メロディ:Melody モーニ:Morning ヤード:Yard ユニオン:Union ライズ:Rise リバー:River
ルート:Route レイク:Lake ロード:Road ワルツ:Waltz イーグル:Eagle オペラ:Opera ガーデン:Garden
クラウン:Crown サイン:Sign シティ:City スカイ:Sky タイム:Time パレス:Palace バレエ:Ballet
フォース:Force ブライト:Bright ポエム:Poem マイル:Mile リズム:Rhythm レター:Letter ロンド:Rondo
"""
_FAMILIES: Final = """
青柳 石動 上総 榎並 大室 風間 北條 桐島 久瀬 小早川 佐倉 志摩 諏訪 瀬尾 園部 高城 筑紫 手越 戸倉
中洲 西脇 沼尻 野分 羽生田 東雲 藤枝 辺見 堀越 真砂 水無瀬 村雨 毛受 八雲 湯浅 与那嶺
"""
_GIVENS: Final = """
一颯 海斗 和真 圭吾 蒼介 大雅 拓実 直央 颯汰 隼也 宏樹 誠司 正宗 瑞希 康平 悠馬 龍之 凌 蓮 航 晶
環 千景 美咲 七海
"""
_READINGS: Final = "ｱｵﾔｷﾞ ｲｽﾙｷﾞ ｶｽﾞｻ ｴﾅﾐ ｵｵﾑﾛ ｶｻﾞﾏ ﾎｳｼﾞｮｳ ｷﾘｼﾏ ｸｾﾞ ｺﾊﾞﾔｶﾜ"
_TOWNS: Final = "日高町 新冠町 浦河町 新ひだか町 安平町 千歳市 むかわ町 青森県"
_FEATURES: Final = """
青葉 朝霧 磯辺 岩清水 梅香 扇 翔鷹 霞ヶ丘 桔梗 銀河 木枯 小夜 桜川 早春 潮風 白樺 涼風 瀬戸 蒼天
立花 月影 椿 天竜 常磐 渚 虹 野菊 初霜 花霞 氷室 富士見 若草
"""
_FIRST: Final = tuple(pair.split(":") for pair in _BEGINNINGS.split())
_MIDDLE: Final = tuple(pair.split(":") for pair in _MIDDLES.split())
_LAST: Final = tuple(pair.split(":") for pair in _ENDINGS.split())
_FAMILY: Final = tuple(_FAMILIES.split())
_GIVEN: Final = tuple(_GIVENS.split())
_READING: Final = tuple(_READINGS.split())
_PLACES: Final = tuple(_TOWNS.split())
_SITES: Final = tuple(_FEATURES.split())
NAMES: Final = len(_FIRST) * len(_MIDDLE) * len(_LAST)
# Shares no factor with the number of names, so that no name comes twice.
_STRIDE: Final = 40_361


def horse_name(number: int) -> tuple[str, str]:
    """Answer a horse's name in katakana and in letters; numbers below `NAMES` differ."""
    rest, first = divmod(number * _STRIDE % NAMES, len(_FIRST))
    last, middle = rest % len(_LAST), rest // len(_LAST)
    parts = (_FIRST[first], _MIDDLE[middle], _LAST[last])
    return "".join(kana for kana, _ in parts), f"{parts[0][1]} {parts[1][1]} {parts[2][1]}"


def person(number: int) -> tuple[str, str]:
    """Answer a person's family and given name."""
    family = _FAMILY[number % len(_FAMILY)]
    given = _GIVEN[(number // len(_FAMILY) * 7 + number) % len(_GIVEN)]
    return family, given


def reading(number: int) -> str:
    """Answer how a family name is read, in half-width kana."""
    return f"{_READING[number % len(_READING)]} {_READING[number * 3 % len(_READING)]}"


def birthplace(number: int) -> str:
    """Answer the town a horse was born in."""
    return _PLACES[number % len(_PLACES)]


def site(*key: object) -> str:
    """Answer a word that races are named after."""
    return chance("site", *key).choice(_SITES)
