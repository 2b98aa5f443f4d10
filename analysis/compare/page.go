package compare

// Remarks are the footnotes of the pair's Table, in the order of their numbers,
// which begin at 1.
func (p *Pair) Remarks() []string {
	texts, _ := p.remarks()
	return texts
}

// Legend says how to read the tables, with the numbers of this comparison.
func (r *Result) Legend() []string { return r.legend() }

// Values are the medians of both sides as the Table has them, with the spread
// between the runs of each.
func (r *Row) Values() (base, other string) {
	return sideText(r.Base, r.BaseNs, r.SpreadBase), sideText(r.New, r.NewNs, r.SpreadNew)
}
