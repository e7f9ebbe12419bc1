package cli

import (
	"errors"
	"slices"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
)

// IsDamage reports whether an error says that something in the home is damaged.
func IsDamage(err error) bool {
	return slices.ContainsFunc([]error{memory.ErrDamaged, keyring.ErrDamaged, keyring.ErrSwapped, atomicfile.ErrDamaged, atomicfile.ErrUnsealed}, func(e error) bool { return errors.Is(err, e) })
}
