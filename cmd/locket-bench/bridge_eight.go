package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/carry/xiaozhi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// eightArg begins the command line of the process that is the bridge of eight devices.
const eightArg = "bridge-eight"

// eightOrder is what it reads: a node's broker, and eight of its wearables.
type eightOrder struct {
	URL       string
	Dir       string
	Seconds   int
	Names     []string
	Passwords []string
}

// eightReport is what it answers.
type eightReport struct {
	Resident float64 // MB, in the end
	CPU      float64 // s
	Wall     float64 // s
	Behind   float64 // s by which the last device took longer than its sound lasts
	Frames   int
	Lost     int // frames, messages, and what the node did not acknowledge
}

// paced is a Dialer whose devices say something each so often, as in real time.
type paced struct {
	link.Dialer
	lasts time.Duration
}

func (p *paced) Connect(ctx context.Context) (link.Device, error) {
	d, err := p.Dialer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	out := &pacedDevice{Device: d, out: make(chan link.Notification), stop: make(chan struct{}), gone: make(chan struct{})}
	go out.pass(p.lasts)
	return out, nil
}

type pacedDevice struct {
	link.Device
	out  chan link.Notification
	once sync.Once
	stop chan struct{}
	gone chan struct{}
}

func (d *pacedDevice) pass(lasts time.Duration) {
	defer close(d.gone)
	defer close(d.out)
	due := time.Now()
	for n := range d.Device.Notifications() {
		due = due.Add(lasts)
		select {
		case <-time.After(time.Until(due)):
		case <-d.stop:
			return
		}
		n.At = time.Now()
		select {
		case d.out <- n:
		case <-d.stop:
			return
		}
	}
}

func (d *pacedDevice) Notifications() <-chan link.Notification { return d.out }

func (d *pacedDevice) Close() error {
	d.once.Do(func() { close(d.stop) })
	err := d.Device.Close()
	<-d.gone
	return err
}

// eightMain is the bridge: two Xiaozhi by WebSocket, two by datagrams, and four Frames.
func eightMain(ctx context.Context, in io.Reader, out io.Writer) error {
	var o eightOrder
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return err
	}
	began, cpu := time.Now(), processor()
	reports, ends := make([]carry.Report, len(o.Names)), make([]error, len(o.Names))
	var all sync.WaitGroup
	for i := range o.Names {
		all.Go(func() { reports[i], ends[i] = o.device(ctx, i) })
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	most := 0.
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(time.Second):
			most = max(most, resident())
		}
	}
	wall := time.Since(began).Seconds()
	r := eightReport{Resident: max(most, resident()), CPU: processor() - cpu, Wall: wall, Behind: wall - float64(o.Seconds)}
	for _, d := range reports {
		r.Frames += d.Frames
		r.Lost += d.Lost + d.Dropped + d.Refused + d.Waiting + d.Spoilt
	}
	return errors.Join(errors.Join(ends...), json.NewEncoder(out).Encode(r))
}

func (o *eightOrder) device(ctx context.Context, i int) (_ carry.Report, err error) {
	f, lasts, play := xiaozhi.Family, 60*time.Millisecond, carry.Play{Reorder: i%2 == 1} // datagrams
	if i >= 4 {
		f, lasts, play = brilliant.Family, 15*time.Millisecond, carry.Play{}
	}
	play.Amount = int(time.Duration(o.Seconds) * time.Second / lasts)
	dir := filepath.Join(o.Dir, o.Names[i])
	state, err := carry.OpenState(dir + ".json")
	if err != nil {
		return carry.Report{}, err
	}
	boot, err := state.Begin()
	if err != nil {
		return carry.Report{}, err
	}
	s, _, err := spool.Open(dir+".spool", 0)
	if err != nil {
		return carry.Report{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c, err := wear.Dial(wear.Config{URL: o.URL, Device: o.Names[i], Password: o.Passwords[i], Boot: boot, Window: carry.Window,
		Hello: wire.Hello{Model: "bench", Firmware: "1", Keeps: true},
		OnCmd: func(cmd *wire.Cmd) {
			if cmd.Cmd == wire.CmdKey {
				_ = s.SetKey(cmd.To) // without it the spool says so with each message
			}
		}})
	if err != nil {
		return carry.Report{}, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Ready(ctx); err != nil {
		return carry.Report{}, err
	}
	return carry.Run(ctx, carry.Config{Dialer: &paced{f.Simulate(play), lasts}, Client: c, State: state, Spool: s, Family: f, FirstWait: time.Second})
}

// eight measures a bridge of eight devices that hear in real time at once, in a process of its own.
func (b *bridgeBench) eight(ctx context.Context, n *node.Node) (_ []result, err error) {
	o := eightOrder{Dir: filepath.Join(b.dir, "eight"), Seconds: b.seconds}
	if err := os.Mkdir(o.Dir, 0o700); err != nil {
		return nil, err
	}
	for i := range 8 {
		cred, err := n.AddDevice(ctx, fmt.Sprintf("eight-%d", i))
		if err != nil {
			return nil, err
		}
		o.URL, o.Names, o.Passwords = cred.Broker, append(o.Names, cred.Name), append(o.Passwords, string(cred.Password))
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(b.seconds)*2*time.Second+time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, self, eightArg)
	c.Stderr = os.Stderr
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	var r eightReport
	err = errors.Join(json.NewEncoder(in).Encode(o), in.Close(), json.NewDecoder(out).Decode(&r))
	if err = errors.Join(err, c.Wait()); err != nil {
		return nil, fmt.Errorf("eight devices: %w", err)
	}
	note := fmt.Sprintf("%d s of sound in real time: two Xiaozhi by WebSocket, two by UDP, four Frames; %d frames, %d lost or waiting", o.Seconds, r.Frames, r.Lost)
	return []result{
		{Suite: "bridge", Case: "rss_8_devices", N: 8, Value: r.Resident, Unit: "MB", Note: note},
		{Suite: "bridge", Case: "cores_8_devices", N: 8, Value: r.CPU / r.Wall, Unit: "cores", Note: "MQTT, spool and sessions; without the node"},
		{Suite: "bridge", Case: "behind_8_devices", N: 8, Value: max(0, r.Behind), Unit: "s", Note: "by which the last device took longer than its sound lasts, with connecting and the photos of four"},
		{Suite: "bridge", Case: "lost_8_devices", N: 8, Value: float64(r.Lost), Unit: "", Note: "frames and messages"},
	}, nil
}
