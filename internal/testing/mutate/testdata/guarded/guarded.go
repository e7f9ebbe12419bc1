// Package guarded has one guard, for the test of package mutate.
package guarded

// Small reports whether n has one digit.
func Small(n int) bool {
	if n > 9 {
		return false
	}
	return true
}
