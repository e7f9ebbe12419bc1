package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// host receives what wearables publish.
type host interface {
	// device adds a wearable.
	device(ctx context.Context, name string) (broker, password string, err error)
	// quiet waits until everything that was acknowledged is processed.
	quiet(ctx context.Context) error
	Close() error
}

// searcher is a host that can be searched. hits is how many hits there were.
type searcher interface {
	search(ctx context.Context, text string, at time.Time) (hits int, err error)
}

// openHost makes a host of a kind:
//
//	node    Locket as it runs
//	locked  Locket without its keys: it journals, and extracts nothing
//	plain   Locket's broker and intake over a file: append, fsync, acknowledge
//	bare    the same broker library without Locket's intake: append, fsync,
//	        acknowledge
func openHost(ctx context.Context, kind, home, cache string) (host, error) {
	switch kind {
	case "node", "locked":
		node.LimitMemory(config.Default) // as the daemon is
		return startLife(ctx, home, cache, "User", kind == "locked", func(*config.Config) {})
	case "plain":
		return openPlain(home)
	case "bare":
		return openBare(home)
	}
	return nil, fmt.Errorf("there is no host %q", kind)
}

// hostMain is the main function of a host process. args are a kind, a folder, and a cache.
func hostMain(ctx context.Context, args []string, in io.Reader, out io.Writer) (err error) {
	if len(args) != 3 {
		return errors.New("host: a kind, a folder and a cache are needed")
	}
	h, err := openHost(ctx, args[0], args[1], args[2])
	if err != nil {
		return err
	}
	open := true
	defer func() {
		if open {
			err = errors.Join(err, h.Close())
		}
	}()
	send, recv := json.NewEncoder(out), json.NewDecoder(bufio.NewReader(in))
	for open {
		var o order
		if err := recv.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var r report
		if o.Do == "stop" {
			open, err = false, h.Close()
		} else {
			r, err = obey(ctx, h, o)
		}
		if err != nil {
			r.Error = err.Error()
		}
		if err := send.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func obey(ctx context.Context, h host, o order) (r report, err error) {
	switch o.Do {
	case "device":
		r.Broker, r.Password, err = h.device(ctx, benchDevice)
		return r, err
	case "quiet":
		return r, h.quiet(ctx)
	case "usage":
		r.Resident, r.CPU = resident(), processor()
		r.Own, r.Files = residentOf("self", "RssAnon"), residentOf("self", "RssFile")
		return r, nil
	case "search":
		s, ok := h.(searcher)
		if !ok {
			return r, errors.New("this host can't be asked")
		}
		r.Took, r.Found, err = searchAll(ctx, s, o)
		return r, err
	}
	return r, fmt.Errorf("there is no order %q", o.Do)
}

// searchAll searches for each text, and returns how long each took in ms.
func searchAll(ctx context.Context, s searcher, o order) (took []float64, found int, err error) {
	next := time.Now()
	for _, text := range o.Texts {
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
		next = next.Add(o.Every)
		begin := time.Now()
		hits, err := s.search(ctx, text, o.At)
		took = append(took, float64(time.Since(begin))/float64(time.Millisecond))
		if err != nil {
			return nil, 0, err
		}
		if hits > 0 {
			found++
		}
	}
	return took, found, nil
}

// benchDevice is the wearable that publishes to a host.
const benchDevice = "pin"

func (l *life) device(ctx context.Context, name string) (broker, password string, err error) {
	if l.locked { // only an unlocked node can add a wearable
		if _, err := l.node.UnlockAsConfigured(ctx); err != nil {
			return "", "", err
		}
		defer func() { err = errors.Join(err, l.node.Lock(ctx)) }()
	}
	c, err := l.node.AddDevice(ctx, name)
	return c.Broker, string(c.Password), err
}

func (l *life) quiet(ctx context.Context) error {
	if l.locked {
		return nil // it processes nothing
	}
	return l.node.WaitIdle(ctx)
}

func (l *life) search(ctx context.Context, text string, at time.Time) (int, error) {
	r, err := l.node.Search(ctx, serve.SearchRequest{Query: text, K: 10, At: at})
	return len(r.Hits), err
}

// resident returns this process's memory in MB, as the kernel counts it, or 0 without /proc.
func resident() float64 { return residentOf("self", "VmRSS") }

// residentOf returns a field of a process's status in MB: VmRSS, RssAnon, RssFile.
func residentOf(pid, field string) float64 {
	b, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	s := bufio.NewScanner(bytes.NewReader(b))
	for s.Scan() {
		if v, ok := strings.CutPrefix(s.Text(), field+":"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(v, "kB")), 64)
			return round(kb / 1000)
		}
	}
	return 0
}

// ticks of Linux's clock in a second: sysconf(_SC_CLK_TCK), which is 100 on
// every platform that Go runs on.
const ticks = 100

// processor returns this process's processor time in seconds, in steps of 10 ms, or 0 without
// /proc.
func processor() float64 { return processorOf("self") }

// processorOf is [processor] for another process.
func processorOf(pid string) float64 {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	// proc_pid_stat(5): utime and stime are fields 14 and 15, counted from the
	// third after the name in brackets.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / ticks
}
