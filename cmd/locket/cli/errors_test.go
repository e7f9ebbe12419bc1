package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
)

func TestDamageHasAdvice(t *testing.T) {
	file := &store.Damage{Kind: "table file", Key: "000003.sst", What: "its index was altered"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.Join(fmt.Errorf("open: %w", file)), "The store's table file 000003.sst is damaged; the rest is intact. Stop the daemon if one is running, and repair the damage: locket doctor --repair"},
		{fmt.Errorf("share: %w", memory.ErrDamaged), "What is named here is damaged"},
		{fmt.Errorf("open keys: %w", keyring.ErrDamaged), "What is named here is damaged"},
		{fmt.Errorf("devices: %w", atomicfile.ErrDamaged), "What is named here is damaged"},
		{fmt.Errorf("installed plugins: %w", atomicfile.ErrUnsealed), "What is named here is damaged"},
		{errors.New(`grant of "nosuch": not found`), "See what there is: locket grant list"},
		{fmt.Errorf("grant of %q: %w", "reader ed949007", memory.ErrAmbiguous), "Give more of its characters, or its id, which stands first in the lines of locket grant list."},
		{fmt.Errorf("memory 3jvh: %w", memory.ErrAmbiguous), "Give more of its characters."},
		{errors.New("share: what is shared needs an invitation of its own in sync.invite: 403"), "Ask the operator of the relay for another code. Write it to config.toml"},
		{fmt.Errorf("plugin module refused: %v", &fs.PathError{Op: "write", Path: "/home/cache/a.tmp", Err: syscall.ENOSPC}), "The disk is full."},
		{errors.New(`relay does not have it (404, "no such route")`), "That relay does not serve this: it has no market"},
	} {
		if got := new(App).advice(c.err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: %q, want %q…", c.err, got, c.want)
		}
	}
}

// A home that can't be written says what to do. A file elsewhere does not.
func TestHomeWithoutAccessHasAdvice(t *testing.T) {
	a := &App{Settings: &config.Loaded{Config: config.Config{Home: "/home/maja/.locket"}}}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("lock: %w", &fs.PathError{Op: "open", Path: "/home/maja/.locket/lock", Err: syscall.EROFS}), true},
		{fmt.Errorf("lock: %w", &fs.PathError{Op: "open", Path: "/home/maja/.locket/lock", Err: syscall.EACCES}), true},
		{fmt.Errorf("store: open /home/maja/.locket/store/records: %w", fs.ErrPermission), true},
		{fmt.Errorf("%w: %w", config.ErrConfig, &fs.PathError{Op: "open", Path: "/home/maja/.locket/config.toml", Err: syscall.EACCES}), true},
		{&fs.PathError{Op: "open", Path: "/home/maja/export.jsonl", Err: syscall.EACCES}, false},
		{&fs.PathError{Op: "open", Path: "/home/maja/.locket/lock", Err: syscall.EIO}, false},
	} {
		if got := a.advice(c.err); strings.Contains(got, "ls -ld /home/maja/.locket") != c.want {
			t.Errorf("%v: %q", c.err, got)
		}
	}
	if got := new(App).advice(fmt.Errorf("%w: %w", config.ErrConfig, &fs.PathError{Op: "open", Path: "/home/maja/.locket/config.toml", Err: syscall.EACCES})); !strings.Contains(got, "ls -ld /home/maja/.locket") {
		t.Errorf("the settings can't be read: %q", got)
	}
}

// A person who interrupts a command sees what it has done and how to continue. For another failure
// they see what failed.
func TestInterruptedSaysHowToContinue(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stopped := InterruptedError{Err: fmt.Errorf("after 3 memories: %w", context.Canceled), State: "3 of 4 texts are in."}
	if err := ShownError(ctx, stopped); err.Error() != "after 3 memories: context canceled" {
		t.Errorf("before: %v", err)
	}
	cancel()
	advised, ok := errors.AsType[AdvisedError](ShownError(ctx, stopped))
	if !ok || advised.Err != errInterrupted || advised.Advice != "3 of 4 texts are in." {
		t.Errorf("%+v", advised)
	}
	if err := ShownError(ctx, InterruptedError{Err: ErrReported, State: "3 of 4 texts are in."}); !errors.Is(err, ErrReported) {
		t.Errorf("another failure: %v", err)
	}
}
