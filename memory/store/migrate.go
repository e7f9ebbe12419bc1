package store

import (
	"context"

	"github.com/locket-dev/locket/memory"
)

// A step brings records from one format to the next. It is given every record
// but head, buckets and guards, which are made anew, and emits what stands in
// the next format, in any number.
type step struct {
	from   int
	record func(key, plain []byte, emit func(key, plain []byte) error) error
}

// migrations[n] leads from format n to n+1.
//
//	0  a trial layout: no guards, no buckets, no index of memories by time
//	1  this one
var migrations = []step{
	{from: 0, record: indexMemoryTimes},
}

// migrate rewrites the records of an older format. The old ones stay as they
// are until the new ones are whole.
func (s *Store) migrate() error {
	s.opt.Log.Info("store: migrating", "from", s.state.head.Format, "to", Format)
	return s.rewrite(context.Background(), migrations[s.state.head.Format:])
}

func indexMemoryTimes(key, plain []byte, emit func(key, plain []byte) error) error {
	if err := emit(key, plain); err != nil || kind(key[0]) != kindMemory {
		return err
	}
	r, err := decode[memoryRecord](key, plain)
	if err != nil {
		return err
	}
	m, err := decode[memory.Memory](key, r.Memory)
	if err != nil {
		return err
	}
	return emit(memoryTimeKey(&m), memoryTimeValue(&m))
}
