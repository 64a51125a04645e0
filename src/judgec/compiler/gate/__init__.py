"""What a judge has to show before it is relied upon: measured on labels that it has not learned from."""
