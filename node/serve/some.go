package serve

// APIDevice is the device name in the source of typed text.
const APIDevice = "api"

// NonNil returns an empty list instead of nil, so that JSON has [] and not null.
func NonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
