package config

import "fmt"

// Metered says whether the connection costs by the byte.
type Metered string

const (
	MeteredNo   Metered = "no"
	MeteredYes  Metered = "yes"
	MeteredAuto Metered = "auto" // what this machine's NetworkManager says
)

// UnmarshalText implements encoding.TextUnmarshaler. It also accepts true and false, the
// only values in earlier versions.
func (m *Metered) UnmarshalText(b []byte) error {
	switch s := Metered(b); s {
	case MeteredNo, MeteredYes, MeteredAuto:
		*m = s
	case "true":
		*m = MeteredYes
	case "false":
		*m = MeteredNo
	default:
		return fmt.Errorf("%q: want yes, no or auto", b)
	}
	return nil
}
