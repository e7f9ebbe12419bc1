package wasm

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/tetratelabs/wazero"
)

// acquire takes an unused instance, or starts one. The plugin is compiled again if it was released.
// A failed start is a *Fault.
func (p *Plugin) acquire(ctx context.Context) (*instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	in, err := p.idleOrNew(ctx)
	if err != nil {
		<-p.slots
	}
	return in, err
}

func (p *Plugin) idleOrNew(ctx context.Context) (*instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if n := len(p.idle); n > 0 {
		in := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.busy++
		return in, nil
	}
	if p.code == nil {
		if err := p.compile(ctx, nil); err != nil {
			return nil, fmt.Errorf("load plugin %s again: %w", p.manifest.ID, err)
		}
	}
	in, err := p.start(ctx)
	if err == nil {
		p.busy++
	}
	return in, err
}

// put returns an instance after a clean call.
func (p *Plugin) put(in *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { <-p.slots }()
	p.busy--
	if p.closed || in.calls >= maxCalls {
		in.close()
		p.tally.instances.Add(-1)
		return
	}
	p.idle = append(p.idle, in)
	p.armIdle()
}

// discard closes an instance after a fault.
func (p *Plugin) discard(_ context.Context, in *instance) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { <-p.slots }()
	p.busy--
	p.tally.instances.Add(-1)
	p.armIdle()
	return in.close()
}

// armIdle releases the plugin after it has not been used for a while. The caller holds p.mu.
func (p *Plugin) armIdle() { p.armAfter(p.host.opt.Idle) }

func (p *Plugin) armAfter(d time.Duration) {
	switch {
	case d < 0 || p.closed:
	case p.timer == nil:
		p.timer = time.AfterFunc(d, p.releaseIdle)
	default:
		p.timer.Reset(d)
	}
}

// filedIdle is how many times longer code in a file is kept: it takes 4 MB, and 45 for a moment
// while it is loaded again.
const filedIdle = 10

// thin closes the instances of a plugin whose code is in a file, and reports whether that is the
// case. The caller holds p.mu, and nothing is in use.
func (p *Plugin) thin() (filed bool, err error) {
	if p.code == nil || !p.code.filed {
		return false, nil
	}
	p.armAfter(filedIdle * p.host.opt.Idle)
	return true, p.dropIdle()
}

// releaseIdle runs on the timer's goroutine; it does nothing after Close,
// which takes the same lock.
func (p *Plugin) releaseIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.busy > 0 {
		return
	}
	var err error
	filed := false
	if len(p.idle) > 0 {
		filed, err = p.thin()
	}
	if !filed {
		err = p.release(context.Background())
	}
	if err != nil {
		p.host.opt.Logger.Warn("release idle plugin", "plugin", p.manifest.ID, "err", err)
	}
	// wazero unmaps machine code, 10 MB for a plugin in Go, when the
	// collector finds that nothing refers to it.
	debug.FreeOSMemory()
}

// Rest releases every plugin that is not in use, as if each had been idle. A host that loaded its
// plugins only to check them needs nothing of them before the first call.
func (h *Host) Rest(ctx context.Context) error {
	var errs []error
	for _, p := range h.Plugins() {
		errs = append(errs, p.freeIdle(ctx))
	}
	debug.FreeOSMemory()
	return errors.Join(errs...)
}

// Shrink is [Host.Rest] during work: code in a file stays, and only the instances are released,
// because loading the code again takes more for a moment than it holds.
func (h *Host) Shrink(ctx context.Context) error {
	var errs []error
	for _, p := range h.Plugins() {
		errs = append(errs, p.shrink(ctx))
	}
	debug.FreeOSMemory()
	return errors.Join(errs...)
}

func (p *Plugin) shrink(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.busy > 0 {
		return nil
	}
	if filed, err := p.thin(); filed {
		return err
	}
	return p.release(ctx)
}

// Rest is [Host.Rest] for one plugin.
func (p *Plugin) Rest(ctx context.Context) error {
	if !p.loaded() {
		return nil // collecting garbage takes time
	}
	err := p.freeIdle(ctx)
	debug.FreeOSMemory()
	return err
}

func (p *Plugin) freeIdle(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.busy > 0 {
		return nil
	}
	return p.release(ctx)
}

// release closes the unused instances and drops the machine code. The caller holds p.mu, and
// nothing is in use.
func (p *Plugin) release(ctx context.Context) error {
	err := p.dropIdle()
	if p.code != nil {
		err = errors.Join(err, p.host.codes.drop(ctx, p.code))
		p.code = nil
	}
	return err
}

// Forget removes what is left of the plugins' earlier input: the lines that they logged, and their
// linear memories. The next call gets fresh instances. No call may be running.
func (h *Host) Forget() error {
	var errs []error
	for _, p := range h.Plugins() {
		p.logs.clear()
		if p.domain != nil {
			errs = append(errs, p.domain.end())
			continue
		}
		errs = append(errs, p.closeIdle())
	}
	return errors.Join(errs...)
}

// closeIdle closes the unused instances.
func (p *Plugin) closeIdle() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropIdle()
}

// dropIdle is closeIdle for a caller that holds p.mu.
func (p *Plugin) dropIdle() error {
	var errs []error
	for _, in := range p.idle {
		errs = append(errs, in.close())
		p.tally.instances.Add(-1)
	}
	p.idle = nil
	return errors.Join(errs...)
}

// loaded reports whether the plugin holds its machine code in memory now.
func (p *Plugin) loaded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.code != nil
}

// Close waits for running calls, and frees what the plugin holds. A second call does nothing.
func (p *Plugin) Close(ctx context.Context) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	for range cap(p.slots) { // taking all of them means that no call is running
		p.slots <- struct{}{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.host.mu.Lock()
	delete(p.host.plugins, p)
	p.host.mu.Unlock()
	err := p.release(ctx)
	p.host.dropFile(p.sum)
	if p.domain != nil {
		err = errors.Join(err, p.domain.remove(p))
	}
	for range cap(p.slots) {
		<-p.slots
	}
	return err
}

// moduleConfig: nothing from the machine, and only the host calls functions.
var moduleConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions()
