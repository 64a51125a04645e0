"""The tournament page's style sheet: the shared one and the leaderboard's."""

from judgec.report.page import style

STYLE = style.STYLE + ".board,.heat{width:100%}.board td:nth-child(3){width:34%;min-width:9rem}\n"
