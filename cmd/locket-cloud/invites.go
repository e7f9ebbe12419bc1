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

// inviteFile is a file of invitation codes, one a line. Codes that are added
// while the relay serves count from the next look on. A code that is taken out
// still counts: the store has it.
type inviteFile struct {
	path  string
	store relay.Store
	log   *slog.Logger
	read  time.Time // modification time of the file when it was read
}

// look adds the codes of the file if it has changed since the last time. Blank
// lines and those after # are passed over.
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

// run looks now and then, until ctx is done.
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
			i.log.Error("invitations can't be read again; those of before count", "error", err)
		}
	}
}
