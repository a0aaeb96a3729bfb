lemma {:induction false} same_remainder(n: int)
  requires n >= 0
  ensures seq_isum(digits(10, n)) % 9 == n % 9
  decreases n
{
  if n > 0 {
    var rest := digits(10, n / 10);
    var all := digits(10, n);
    assert all == [n % 10] + rest;
    assert all[1..] == rest && all[0] == n % 10;
    assert seq_isum(all) == n % 10 + seq_isum(rest);
    same_remainder(n / 10);
  }
}

lemma casting_out_nines(n: nat)
  ensures seq_isum(digits(10, n)) % 9 == n % 9
{
  same_remainder(n);
}
