package serve

// APIDevice names the node's API as the source of what a person typed.
const APIDevice = "api"

// Some returns a list that is empty, and not null, in JSON where there is none.
func Some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
