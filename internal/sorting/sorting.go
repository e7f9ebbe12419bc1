// Package sorting sorts like package slices, with less code for each type. The program grows by
// some 20 KB with each type that slices.SortFunc sorts, and by less than 1 KB with each that Sort
// sorts. Sort takes up to twice the time, so slices is used where the time for sorting matters,
// such as in memory/recall.
package sorting

import (
	"iter"
	"slices"
	"sort"
)

// Sort is slices.SortFunc.
func Sort[E any](s []E, cmp func(a, b E) int) {
	sort.Slice(s, func(i, j int) bool { return cmp(s[i], s[j]) < 0 })
}

// Stable is slices.SortStableFunc.
func Stable[E any](s []E, cmp func(a, b E) int) {
	sort.SliceStable(s, func(i, j int) bool { return cmp(s[i], s[j]) < 0 })
}

// Sorted is slices.SortedFunc.
func Sorted[E any](seq iter.Seq[E], cmp func(a, b E) int) []E {
	s := slices.Collect(seq)
	Sort(s, cmp)
	return s
}
