package memtrim

import (
	"runtime/metrics"
	"time"
)

// Keeper releases memory in quiet moments, if it is worth it. It must be used
// by one goroutine only.
type Keeper struct {
	// Every is the least time between two releases.
	Every time.Duration
	// Files is a folder whose mapped files are released, too; empty: none.
	Files string
	// Calm says that files are released only in quiet moments. In a process
	// that is never quiet they are not released, because it would read them
	// again at once.
	Calm bool

	calm     bool // whether the last check found it quiet
	released time.Time
	then     uint64 // bytes allocated at the last release
	seen     uint64 // bytes allocated at the last check
}

// Thresholds, in allocated bytes, for a release that is worth it and for a
// quiet moment. A check every half second allocates some KB by itself, a search
// about 100 KB, a synced delta some MB.
const (
	worthwhile = 2 << 20
	quiet      = 256 << 10
)

// busyFor is after how long a process that is never quiet is released
// nevertheless. Its heap is as large as its work needs, but its image is not.
const busyFor = time.Minute

// Maintain has to be called regularly, at most a few times a second.
func (k *Keeper) Maintain() {
	what, files := k.due(allocated(), time.Now()), k.Files
	if k.Calm && !k.calm {
		files = ""
	}
	switch what {
	case everything:
		release(files)
		k.then = allocated()
		k.seen = k.then
	case pages:
		releasePages(files)
	}
}

// what says what to release: only the pages if too little was allocated for the
// heap to be worth it, because even a check touches some.
type what int

const (
	nothing what = iota
	pages
	everything
)

// due decides what to release, given the bytes allocated since the process
// began.
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

// allocated returns the bytes allocated on the heap since the process began.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
