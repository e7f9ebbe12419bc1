package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/memory"
)

// Inspect checks the files of a store that no process has open. It does not use
// Badger, and changes nothing. It returns every file that is not as it was
// written, and every record that can't be read, is missing, or was replaced by
// an older version. If it finds nothing, the store can be opened safely, and
// [Store.Verify] finds what is left: data that Badger would return in another
// order than it was written in.
func Inspect(ctx context.Context, opt Options) (_ []Damage, err error) {
	l, err := filelock.Take(filepath.Join(opt.Dir, lockName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	s := newSalvage(opt)
	defer s.secrets.zero()
	err = s.look(ctx)
	if d := new(Damage); errors.As(err, &d) {
		return []Damage{*d}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("inspect: %w", err)
	}
	if err := checkFiles(s.records, s.secrets.disk); err != nil {
		d := new(Damage)
		if !errors.As(err, &d) && !errors.Is(err, memory.ErrLocked) {
			return nil, err
		}
		if d.Kind != "" && !slices.ContainsFunc(s.found, func(o Damage) bool { return o.Key == d.Key }) {
			s.found = append(s.found, *d)
		}
	}
	s.exclude()
	s.miss()
	return append(s.found, s.out.Lost...), nil
}
