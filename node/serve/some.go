package serve

// Some gives a list that is empty, and not null, in JSON where there is none.
func Some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
