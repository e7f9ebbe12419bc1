package config

import "fmt"

// Metered says whether a line costs by the byte.
type Metered string

const (
	MeteredNo   Metered = "no"
	MeteredYes  Metered = "yes"
	MeteredAuto Metered = "auto" // as this machine's NetworkManager has it
)

// UnmarshalText implements encoding.TextUnmarshaler. It takes true and false too, as earlier
// versions had them alone.
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
