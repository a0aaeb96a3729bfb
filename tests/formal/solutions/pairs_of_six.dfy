lemma pairs_of_six()
  ensures choose(6, 2) == 15
{
  choose_one(2);
  choose_one(3);
  choose_one(4);
  choose_one(5);
  choose_ends(2);
  assert choose(3, 2) == 3;
  assert choose(4, 2) == 6;
  assert choose(5, 2) == 10;
}
