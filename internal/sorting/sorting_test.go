package sorting

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The result is the same as with slices, including equal elements if the sort is stable.
func TestSameResultAsSlices(t *testing.T) {
	type pair struct{ key, at int }
	byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	rapid.Check(t, func(t *rapid.T) {
		var list []pair
		for i, k := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "keys") {
			list = append(list, pair{k, i})
		}
		stable, want := slices.Clone(list), slices.Clone(list)
		Stable(stable, byKey)
		slices.SortStableFunc(want, byKey)
		if !slices.Equal(stable, want) {
			t.Errorf("%v, want %v", stable, want)
		}
		whole := func(a, b pair) int { return cmp.Or(byKey(a, b), cmp.Compare(b.at, a.at)) }
		sorted := slices.Clone(list)
		Sort(sorted, whole)
		slices.SortFunc(want, whole)
		if !slices.Equal(sorted, want) || !slices.Equal(Sorted(slices.Values(list), whole), want) {
			t.Errorf("%v, want %v", sorted, want)
		}
	})
}
