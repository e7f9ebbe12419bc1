package intake

import "sync"

// budget limits what is in use at the same time. A caller waits until there is
// enough. No caller waits for ever, because everything is returned when the
// journal has answered.
type budget struct {
	mu   sync.Mutex
	wake sync.Cond
	left int
	all  int
}

func newBudget(n int) *budget {
	b := &budget{left: n, all: n}
	b.wake.L = &b.mu
	return b
}

// acquire takes n, or everything if n is more than the total.
func (b *budget) acquire(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.left < min(n, b.all) {
		b.wake.Wait()
	}
	b.left -= min(n, b.all)
}

func (b *budget) release(n int) {
	b.mu.Lock()
	b.left += min(n, b.all)
	b.mu.Unlock()
	b.wake.Broadcast()
}
