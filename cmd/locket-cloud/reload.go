package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// lookEvery is how often a certificate's files are checked for changes.
const lookEvery = 30 * time.Second

// pairFiles is a certificate and its key in two files, which another program renews. It is safe for
// concurrent use.
type pairFiles struct {
	cert, key string
	now       func() time.Time
	log       *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	times  [2]time.Time // modification times of the files when they were read
	looked time.Time
}

// load reads the files for the first time.
func (p *pairFiles) load() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	times, err := p.changed()
	if err != nil {
		return fmt.Errorf("load certificate: %w", err)
	}
	return p.read(times)
}

// get is [tls.Config.GetCertificate]. If the files can't be read, or don't match, it keeps the
// previous certificate: one of the files may just be being written.
func (p *pairFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.now(); now.Sub(p.looked) >= lookEvery {
		p.looked = now
		times, err := p.changed()
		if err == nil && times != p.times {
			if err = p.read(times); err == nil {
				p.log.Info("certificate read again", "file", p.cert, "until", p.pair.Leaf.NotAfter)
			}
		}
		if err != nil {
			p.log.Error("a renewed certificate can't be read; the previous one stays in use", "error", err)
		}
	}
	return p.pair, nil
}

func (p *pairFiles) changed() (times [2]time.Time, err error) {
	for i, path := range []string{p.cert, p.key} {
		info, e := os.Stat(path)
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		times[i] = info.ModTime()
	}
	return times, err
}

func (p *pairFiles) read(times [2]time.Time) error {
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return fmt.Errorf("load certificate: %w", err)
	}
	p.pair, p.times, p.looked = &pair, times, p.now()
	return nil
}
