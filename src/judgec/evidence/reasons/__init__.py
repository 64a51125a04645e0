"""Makes the reasons of judgments: findings beside an item's texts, as phrases by topic and one sentence."""
