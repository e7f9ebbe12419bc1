// Package editdistance counts in how many places two sequences differ.
package editdistance

// Of returns the Levenshtein distance of a and b: the least number of elements to insert, remove or
// replace that makes one of the other. It takes len(a)·len(b) steps.
func Of[T comparable](a, b []T) int {
	row := make([]int, len(b)+1) // the distance of a[:i] and b[:j]
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
