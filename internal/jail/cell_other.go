//go:build !linux

package jail

// Possible returns what [Thread] can keep programs from here: nothing.
func Possible() Cell { return Cell{} }

// Thread does nothing on this system.
func Thread(View) (Cell, error) { return Cell{}, nil }
