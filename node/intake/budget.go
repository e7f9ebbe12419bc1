package intake

import "sync"

// budget limits what is in use at the same time. A caller waits until there is
// enough. No caller waits for ever, because everything is returned when the
// journal has answered.
type budget struct {
	mu   sync.Mutex
	wake sync.Cond
	free int
	size int
}

func newBudget(n int) *budget {
	b := &budget{free: n, size: n}
	b.wake.L = &b.mu
	return b
}

// acquire takes n, or everything if n is more than the total.
func (b *budget) acquire(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.free < min(n, b.size) {
		b.wake.Wait()
	}
	b.free -= min(n, b.size)
}

func (b *budget) release(n int) {
	b.mu.Lock()
	b.free += min(n, b.size)
	b.mu.Unlock()
	b.wake.Broadcast()
}
