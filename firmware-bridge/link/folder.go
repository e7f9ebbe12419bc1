package link

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Folder is a Dialer for files that come into a folder or a folder below it. Each file is a
// notification whose Char is its path in the folder and whose At is when it was last changed. There
// is nothing to read, to write or to subscribe to.
//
// A file comes once it has not changed for a while, so that a file that is being written is not
// taken for complete. It comes again if it is changed, or if its Resend is called. Hidden files and
// those that browsers and phones are still downloading are left out, and links are not followed.
type Folder struct {
	Dir        string
	Every      time.Duration // between looks; 0: a second
	SettleTime time.Duration // how long a file must not have changed; 0: 3 s
}

// MaxFile is the largest file, in bytes. A larger one comes without its bytes.
const MaxFile = 64 << 20

// Connect starts watching.
func (f *Folder) Connect(ctx context.Context) (Device, error) {
	if info, err := os.Stat(f.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is not a folder that can be read", ErrNotFound, f.Dir)
	}
	d := &watched{of: *f, out: make(chan Notification), stop: make(chan struct{}), gone: make(chan struct{}), files: map[string]*seenFile{}}
	if d.of.Every <= 0 {
		d.of.Every = time.Second
	}
	if d.of.SettleTime <= 0 {
		d.of.SettleTime = 3 * time.Second
	}
	go d.run()
	return d, ctx.Err()
}

// seenFile is the state of a file at the last look.
type seenFile struct {
	size    int64
	changed time.Time
	since   time.Time // since when it has been in this state
	given   atomic.Bool
	round   int // the latest round in which it was seen
}

type watched struct {
	of    Folder
	out   chan Notification
	stop  chan struct{}
	gone  chan struct{}
	once  sync.Once
	files map[string]*seenFile
	round int
	err   error // set before gone is closed
}

func (d *watched) run() {
	defer close(d.gone)
	defer close(d.out)
	for {
		d.round++
		if d.err = filepath.WalkDir(d.of.Dir, d.look); d.err != nil {
			return
		}
		for name, f := range d.files {
			if f.round != d.round {
				delete(d.files, name)
			}
		}
		select {
		case <-d.stop:
			return
		case <-time.After(d.of.Every):
		}
	}
}

// passing are the suffixes of files that are still being downloaded.
var passing = []string{".part", ".partial", ".tmp", ".crdownload", ".download", "~"}

func (d *watched) look(path string, e fs.DirEntry, err error) error {
	name, rel := d.of.Dir, ""
	if err != nil {
		if path == name {
			return err
		}
		return nil // it has gone meanwhile, or may not be read
	}
	select {
	case <-d.stop:
		return fs.SkipAll
	default:
	}
	if rel, err = filepath.Rel(name, path); err != nil {
		return err
	}
	if rel != "." && strings.HasPrefix(e.Name(), ".") {
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	for _, end := range passing {
		if strings.HasSuffix(strings.ToLower(e.Name()), end) {
			return nil
		}
	}
	if !e.Type().IsRegular() {
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return nil
	}
	now := time.Now()
	f := d.files[rel]
	if f == nil || f.size != info.Size() || !f.changed.Equal(info.ModTime()) {
		f = &seenFile{size: info.Size(), changed: info.ModTime(), since: now}
		d.files[rel] = f
	}
	f.round = d.round
	if f.given.Load() || f.size == 0 || now.Sub(f.since) < d.of.SettleTime {
		return nil
	}
	n := Notification{At: f.changed, Char: filepath.ToSlash(rel), Resend: func() { f.given.Store(false) }}
	if f.size <= MaxFile {
		if n.Data, err = os.ReadFile(path); err != nil || int64(len(n.Data)) != f.size {
			f.since = now // it can't be read yet, or grew
			return nil
		}
	}
	f.given.Store(true) // set before, since the receiver may want it again at once
	select {
	case d.out <- n:
	case <-d.stop:
		return fs.SkipAll
	}
	return nil
}

func (d *watched) MTU() int                           { return 0 }
func (d *watched) Notifications() <-chan Notification { return d.out }

func (d *watched) Err() error {
	<-d.gone
	return d.err
}

func (d *watched) Read(_ context.Context, name string) ([]byte, error)  { return nil, absent(name) }
func (d *watched) Write(_ context.Context, name string, _ []byte) error { return absent(name) }
func (d *watched) Subscribe(_ context.Context, name string) error       { return absent(name) }

func (d *watched) Close() error {
	d.once.Do(func() { close(d.stop) })
	<-d.gone
	return nil
}
