package relay

import (
	"sync"
	"time"
)

// maxPaced is how many keys a [Pace] remembers. Each takes about 100 bytes. A
// key is remembered until half as many others have come after it.
const maxPaced = 1 << 16

// Pace limits how many requests a minute each key may make, and how many at
// once. A key that it does not remember has its full share. It is safe for
// concurrent use.
type Pace struct {
	PerMinute int64 // 0: no limit
	AtOnce    int64 // 0: the same as PerMinute
	Now       func() time.Time

	mu     sync.Mutex        // guards the fields below
	recent map[string]bucket // keys that came since it was last full
	before map[string]bucket // keys that came before that; those that come again move to recent
}

type bucket struct {
	left  float64
	at    time.Time
	spent int64 // requests that other relays were not told of yet
}

// Take counts one request. If the key has none left, ok is false, and wait
// says how long to wait.
func (p *Pace) Take(key string) (wait time.Duration, ok bool) {
	if p.PerMinute <= 0 {
		return 0, true
	}
	limit, most := float64(p.PerMinute), p.burst()
	now := p.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	b, known := p.find(key)
	if !known {
		b = bucket{left: most, at: now}
	}
	if d := now.Sub(b.at); d > 0 {
		b.left, b.at = min(most, b.left+limit*d.Minutes()), now
	}
	if ok = b.left >= 1; ok {
		b.left--
		b.spent++
	} else {
		wait = time.Duration((1 - b.left) / limit * float64(time.Minute))
	}
	p.put(key, b)
	return wait, ok
}

// Give takes back one counted request.
func (p *Pace) Give(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, ok := p.find(key); ok {
		b.left, b.spent = min(p.burst(), b.left+1), max(0, b.spent-1)
		p.put(key, b)
	}
}

func (p *Pace) burst() float64 {
	if p.AtOnce > 0 {
		return float64(p.AtOnce)
	}
	return float64(p.PerMinute)
}

// takeSpent returns how many requests each key has made since the last call.
func (p *Pace) takeSpent() map[string]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]int64{}
	for _, keys := range []map[string]bucket{p.recent, p.before} {
		for k, b := range keys {
			if b.spent > 0 {
				out[k] = b.spent
				b.spent = 0
				keys[k] = b
			}
		}
	}
	return out
}

// setShared sets how many requests a key had left at a time, over all relays.
// Requests that were counted here since then are subtracted.
func (p *Pace) setShared(key string, left float64, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, ok := p.find(key); ok {
		b.left, b.at = min(float64(p.PerMinute), left)-float64(b.spent), at
		p.put(key, b)
	}
}

// restoreSpent takes back the result of [Pace.takeSpent], because the other relays
// could not be told.
func (p *Pace) restoreSpent(all map[string]int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, n := range all {
		if b, ok := p.find(k); ok {
			b.spent += n
			p.put(k, b)
		}
	}
}

func (p *Pace) find(key string) (bucket, bool) {
	b, ok := p.recent[key]
	if !ok {
		b, ok = p.before[key]
	}
	return b, ok
}

// put stores the bucket of a key. If there is no room, it drops all keys that
// came before at once, so that no request pays for a search through them.
func (p *Pace) put(key string, b bucket) {
	if _, known := p.recent[key]; !known {
		if len(p.recent) >= maxPaced/2 || p.recent == nil {
			p.recent, p.before = map[string]bucket{}, p.recent
		}
		delete(p.before, key)
	}
	p.recent[key] = b
}
