package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
)

// inviteFile is a file of invitation codes, one per line. Codes that are added while the relay
// serves are valid after the next check. A code that is removed from the file stays valid: the
// store has it.
type inviteFile struct {
	path  string
	store relay.Store
	log   *slog.Logger
	read  time.Time // modification time of the file when it was read
}

// look adds the codes of the file if it has changed since the last time. It skips blank lines and
// lines that begin with #.
func (i *inviteFile) look(ctx context.Context) error {
	file, err := os.Open(i.path)
	if err != nil {
		return fmt.Errorf("read invitations: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read invitations: %w", err)
	}
	if info.ModTime().Equal(i.read) {
		return nil
	}
	n, lines := 0, bufio.NewScanner(file)
	for lines.Scan() {
		code := strings.TrimSpace(lines.Text())
		if code == "" || code[0] == '#' {
			continue
		}
		if err := i.store.AddInvite(ctx, relay.InviteHash(code)); err != nil {
			return err
		}
		n++
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read invitations: %w", err)
	}
	if !i.read.IsZero() {
		i.log.Info("invitations read again", "file", i.path, "codes", n)
	}
	i.read = info.ModTime()
	return nil
}

// run checks the file regularly until ctx is done.
func (i *inviteFile) run(ctx context.Context) error {
	if i == nil {
		return nil
	}
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		if err := i.look(ctx); err != nil && ctx.Err() == nil {
			i.log.Error("invitations can't be read again; the previous ones stay valid", "error", err)
		}
	}
}
