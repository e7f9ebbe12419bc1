package intake

import "github.com/locket-dev/locket/memory"

// Limits of the ids that are remembered.
const (
	maxStreams = 256  // boots of devices
	maxSeqs    = 4096 // of one boot, the latest
)

// seen remembers the latest ids that are on disk, so that a message that comes
// again is not journalled again. If it has forgotten an id, the journal gets a
// second entry, which the extractor recognises by its id and drops. It is not safe
// for concurrent use.
type seen struct {
	streams map[stream]*ids
	clock   uint64
}

type stream struct {
	device string
	boot   uint64
}

type ids struct {
	known map[uint64]bool
	ring  []uint64
	next  int
	used  uint64
}

func newSeen() *seen { return &seen{streams: map[stream]*ids{}} }

func (s *seen) has(id memory.EventID) bool {
	l := s.streams[stream{id.Device, id.Boot}]
	return l != nil && l.known[id.Seq]
}

func (s *seen) add(id memory.EventID) {
	key := stream{id.Device, id.Boot}
	l := s.streams[key]
	if l == nil {
		s.makeRoom()
		l = &ids{known: map[uint64]bool{}}
		s.streams[key] = l
	}
	s.clock++
	l.used = s.clock
	if l.known[id.Seq] {
		return
	}
	l.known[id.Seq] = true
	if len(l.ring) < maxSeqs {
		l.ring = append(l.ring, id.Seq)
		return
	}
	delete(l.known, l.ring[l.next])
	l.ring[l.next] = id.Seq
	l.next = (l.next + 1) % maxSeqs
}

func (s *seen) makeRoom() {
	if len(s.streams) < maxStreams {
		return
	}
	var oldest stream
	var used uint64
	for k, l := range s.streams {
		if used == 0 || l.used < used {
			oldest, used = k, l.used
		}
	}
	delete(s.streams, oldest)
}
