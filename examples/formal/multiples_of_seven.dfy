// domain: sets
// Four of the numbers from 1 to 30 are multiples of 7.
lemma multiples_of_seven()
  ensures |set k: int | 1 <= k <= 30 && divides(7, k)| == 4
{}
