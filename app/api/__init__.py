"""What other programs meet: the door in front of everything, and the routes behind it."""
