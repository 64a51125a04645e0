"""What a reason can say of an item: findings beside its texts, as phrases by topic, and the sentence of them."""
