package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/diskspace"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/serve"
)

// Status implements serve.Diagnostics.
func (n *Node) Status(ctx context.Context) (serve.Status, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	s := serve.Status{Running: n.running, Version: n.version, PID: os.Getpid(), Started: n.started, Home: n.cfg.Home, Wearer: n.cfg.Wearer, Zone: n.zone.String(),
		Locked: n.open == nil, Pause: n.paused.current(), Private: n.private.status(), Memories: map[memory.Type]int{}, Plugins: []serve.PluginStatus{}}
	s.Broker = n.brokerStatus()
	devices, err := n.devices.Names()
	if err != nil {
		return s, err
	}
	s.Devices = len(devices)
	j := n.journal.Stats()
	s.Journal.Bytes = j.Bytes
	s.Journal.Waiting = n.waiting(&j)
	free, err := diskspace.Free(n.cfg.Home)
	if err != nil {
		return s, err
	}
	used, err := folderSize(n.cfg.Home)
	if err != nil {
		return s, err
	}
	s.Disk = serve.DiskStatus{Used: used, Free: int64(free), Reserve: int64(n.cfg.Disk.Reserve)}
	if s.Backup, err = n.backups(); err != nil {
		return s, err
	}
	hand, err := backup.ByHand(n.cfg.Home)
	if err != nil {
		return s, err
	}
	if hand != nil {
		s.BackupByHand = &serve.BackupStatus{To: backup.ShownName(hand.To), At: hand.At, Vault: hand.Vault}
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	s.HeapBytes, s.RSSBytes = int64(mem.HeapAlloc), residentBytes()
	if n.open != nil {
		err = n.open.status(ctx, &s, n.now())
	}
	return s, err
}

// backups reports on the scheduled backups, and on those by hand in the same place. It is nil if there is no schedule.
func (n *Node) backups() (*serve.BackupStatus, error) {
	to := n.cfg.Backup.To
	if to == "" {
		return nil, nil
	}
	st, err := backup.LastOf(n.cfg.Home, to)
	return &serve.BackupStatus{To: backup.ShownName(to), Every: n.cfg.Backup.Every, At: st.At, Vault: st.Vault, Failures: st.Failures, Error: st.Error}, err
}

func (o *session) status(ctx context.Context, s *serve.Status, now time.Time) error {
	s.VaultUntil = o.vault.OpenUntil()
	s.Plugins = o.plugins.Status()
	return o.store.View(ctx, func(tx *store.Tx) error {
		var err error
		if s.Consents, err = consent.Waiting(tx, now); err != nil {
			return err
		}
		n, err := o.query.Count(ctx, tx)
		if err != nil {
			return err
		}
		s.Memories, s.Journal.Transcribe, s.Utterances = n.Types, n.Transcribe, n.Utterances
		for _, err := range tx.Quarantined() {
			if err != nil {
				return err
			}
			s.Journal.Quarantined++
		}
		s.Engines, err = o.engines.Working(tx)
		return err
	})
}

func (n *Node) brokerStatus() serve.BrokerStatus {
	switch {
	case n.broker != nil:
		scheme := "tcp://"
		if n.cfg.Broker.TLSCert != "" {
			scheme = "ssl://"
		}
		return serve.BrokerStatus{Embedded: true, URL: scheme + n.broker.Addr().String(), Connected: true}
	case n.client != nil:
		return serve.BrokerStatus{URL: n.cfg.Broker.URL, Connected: n.client.Err() == nil}
	}
	return serve.BrokerStatus{Embedded: n.cfg.Broker.URL == "", URL: n.cfg.Broker.URL}
}

func folderSize(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted while we looked
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("measure %s: %w", dir, err)
	}
	return total, nil
}

// residentBytes returns how much memory of this process is resident, or 0 if
// the kernel does not say (proc(5), statm: pages, the second number).
func residentBytes() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// waiting counts the events that were taken and are not processed yet. For a
// locked node that is everything in the journal.
func (n *Node) waiting(j *journal.Stats) int {
	if n.open == nil || n.open.pump == nil {
		return int(j.Entries)
	}
	return n.open.pump.Waiting(j)
}
