package store

import (
	"context"

	"github.com/locket-dev/locket/memory"
)

// step converts records from one format to the next. It gets every record
// except head, buckets and guards, which are made again. For each record it
// emits any number of records of the next format.
type step struct {
	from   int
	record func(key, plain []byte, emit func(key, plain []byte) error) error
}

// migrations[n] leads from format n to n+1. The last leads to readFormat.
//
//	0  a trial layout: no guards, no buckets, no index of memories by time
//	1  the oldest that is read as it is
var migrations = []step{
	{from: 0, record: indexMemoryTimes},
}

// migrate converts the records of an older format. The old records stay until
// the new ones are complete.
func (s *Store) migrate() error {
	s.opt.Log.Info("store: migrating", "from", s.state.head.Format, "to", readFormat)
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
