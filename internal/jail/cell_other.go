//go:build !linux

package jail

// Possible returns from what [Thread] can keep programs on this system: nothing.
func Possible() Cell { return Cell{} }

// Thread does nothing on this system.
func Thread(View) (Cell, error) { return Cell{}, nil }
