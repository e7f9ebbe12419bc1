package memtrim

import (
	"runtime/metrics"
	"time"
)

// Keeper releases in quiet moments, when it is worth its while. It is for one
// goroutine.
type Keeper struct {
	// Every is how long after a release there is another one, at the least.
	Every time.Duration
	// Files is a folder whose mapped files are let go of too; empty: none.
	Files string
	// Calm: files are let go of in quiet moments alone, and not of a process that
	// is never quiet either, which would read them again at once.
	Calm bool

	calm     bool // when it was last asked
	released time.Time
	then     uint64 // allocated when it last released
	seen     uint64 // allocated when it was last asked
}

// What is worth a release, and what is quiet, in bytes that were allocated: a
// look every half a second allocates some KB by itself, a search some 100 KB, a
// synced delta some MB.
const (
	worthwhile = 2 << 20
	quiet      = 256 << 10
)

// busyFor is how long a process that is never quiet is left alone: its heap is
// as large as its work needs, but its image is not.
const busyFor = time.Minute

// Maintain is called now and then, some times a second at most.
func (k *Keeper) Maintain() {
	what, files := k.due(allocated(), time.Now()), k.Files
	if k.Calm && !k.calm {
		files = ""
	}
	switch what {
	case everything:
		Release(files)
		k.then = allocated()
		k.seen = k.then
	case pages:
		ReleasePages(files)
	}
}

// what is released: the pages alone where too little was allocated for the
// heap to be worth it; a look now and then touches some.
type what int

const (
	nothing what = iota
	pages
	everything
)

// due decides, with what was allocated since the process began.
func (k *Keeper) due(all uint64, now time.Time) what {
	since := now.Sub(k.released)
	k.calm = all-k.seen < quiet
	k.seen = all
	if since < k.Every || !k.calm && since < max(busyFor, k.Every) {
		return nothing
	}
	k.released = now
	if all-k.then < worthwhile {
		return pages
	}
	return everything
}

// allocated is what was taken from the heap since the process began, in bytes.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
