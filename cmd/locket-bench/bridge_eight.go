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
	"slices"
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

// eightArg is the first argument of the process that acts as the bridge of eight devices.
const eightArg = "bridge-eight"

// eightOrder is the input of that process: a node's broker, and eight of its wearables.
type eightOrder struct {
	URL         string
	Dir         string
	Seconds     int     // of sound
	Connections int     // of each device, over which the sound is spread
	Times       float64 // as fast as in real time
	Names       []string
	Passwords   []string
}

// eightReport is the output of that process.
type eightReport struct {
	Resident [12]float64 // MB, the maximum in each twelfth of the run
	CPU      float64     // s
	Wall     float64     // s
	Behind   float64     // s, the largest delay with which something from a device was accepted
	Frames   int
	Lost     int // frames and messages, and messages that the node did not acknowledge
}

// paced is a Dialer whose devices send at regular intervals, as in real time.
type paced struct {
	link.Dialer
	lasts  time.Duration
	behind time.Duration // the largest delay with which something was accepted
}

func (p *paced) Connect(ctx context.Context) (link.Device, error) {
	d, err := p.Dialer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	out := &pacedDevice{Device: d, out: make(chan link.Notification), stop: make(chan struct{}), gone: make(chan struct{})}
	go out.pass(p)
	return out, nil
}

type pacedDevice struct {
	link.Device
	out  chan link.Notification
	once sync.Once
	stop chan struct{}
	gone chan struct{}
}

// pass delivers what the device sends when it is due. A device has one connection at a time.
func (d *pacedDevice) pass(p *paced) {
	defer close(d.gone)
	defer close(d.out)
	due := time.Now()
	for n := range d.Device.Notifications() {
		due = due.Add(p.lasts)
		select {
		case <-time.After(time.Until(due)):
		case <-d.stop:
			return
		}
		n.At = time.Now()
		select {
		case d.out <- n:
			p.behind = max(p.behind, time.Since(due))
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

// eightMain is the main function of the bridge: two Xiaozhi over WebSocket, two over datagrams, and
// four Frames.
func eightMain(ctx context.Context, in io.Reader, out io.Writer) error {
	var o eightOrder
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return err
	}
	began, cpu := time.Now(), processor()
	reports, ends, behind := make([]carry.Report, len(o.Names)), make([]error, len(o.Names)), make([]time.Duration, len(o.Names))
	var all sync.WaitGroup
	for i := range o.Names {
		all.Go(func() { reports[i], behind[i], ends[i] = o.device(ctx, i) })
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	var r eightReport
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(time.Second):
		}
		part := int(time.Since(began).Seconds() * o.Times / float64(o.Seconds) * float64(len(r.Resident)))
		part = min(part, len(r.Resident)-1)
		r.Resident[part] = max(r.Resident[part], resident())
	}
	r.CPU, r.Wall, r.Behind = processor()-cpu, time.Since(began).Seconds(), slices.Max(behind).Seconds()
	for _, d := range reports {
		r.Frames += d.Frames
		r.Lost += d.Lost + d.Dropped + d.Refused + d.Waiting + d.Spoilt
	}
	return errors.Join(errors.Join(ends...), json.NewEncoder(out).Encode(r))
}

// device carries the i-th device, and returns its largest delay.
func (o *eightOrder) device(ctx context.Context, i int) (_ carry.Report, _ time.Duration, err error) {
	f, lasts, play := xiaozhi.Family, 60*time.Millisecond, carry.Play{Reorder: i%2 == 1} // datagrams
	if i >= 4 {
		f, lasts, play = brilliant.Family, 15*time.Millisecond, carry.Play{}
	}
	play.Amount = int(time.Duration(o.Seconds) * time.Second / lasts / time.Duration(o.Connections))
	play.Reboot = o.Connections - 1
	p := paced{Dialer: f.Simulate(play), lasts: time.Duration(float64(lasts) / o.Times)}
	dir := filepath.Join(o.Dir, o.Names[i])
	state, err := carry.OpenState(dir + ".json")
	if err != nil {
		return carry.Report{}, 0, err
	}
	boot, err := state.Begin()
	if err != nil {
		return carry.Report{}, 0, err
	}
	s, _, err := spool.Open(dir+".spool", 0)
	if err != nil {
		return carry.Report{}, 0, err
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
		return carry.Report{}, 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Ready(ctx); err != nil {
		return carry.Report{}, 0, err
	}
	rep, err := carry.Run(ctx, carry.Config{Dialer: &p, Client: c, State: state, Spool: s, Family: f, FirstWait: time.Second})
	return rep, p.behind, err
}

// eight measures a bridge of eight devices that record at once, in a separate process.
func (b *bridgeBench) eight(ctx context.Context, n *node.Node) (_ []result, err error) {
	o := eightOrder{Dir: filepath.Join(b.dir, "eight"), Seconds: b.seconds, Connections: b.connections, Times: b.times}
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
	ctx, cancel := context.WithTimeout(ctx, time.Duration(float64(b.seconds)/b.times*2+60*float64(b.connections))*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, self, eightArg)
	c.Stderr = os.Stderr
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	cpu := processor()
	if err := c.Start(); err != nil {
		return nil, err
	}
	var r eightReport
	err = errors.Join(json.NewEncoder(in).Encode(o), in.Close(), json.NewDecoder(out).Decode(&r))
	if err = errors.Join(err, c.Wait()); err != nil {
		return nil, fmt.Errorf("eight devices: %w", err)
	}
	note := fmt.Sprintf("%d s of sound, %g times as fast as in real time, in %d connections: two Xiaozhi by WebSocket, two by UDP, four Frames; %d frames, %d lost or waiting; at most in each twelfth: %v",
		o.Seconds, o.Times, o.Connections, r.Frames, r.Lost, r.Resident)
	return []result{
		{Suite: "bridge", Case: "rss_8_devices", N: 8, Value: slices.Max(r.Resident[:]), Unit: "MB", Note: note},
		{Suite: "bridge", Case: "cores_8_devices", N: 8, Value: r.CPU / r.Wall, Unit: "cores", Note: "MQTT, spool and sessions; without the node"},
		{Suite: "bridge", Case: "cores_of_node", N: 8, Value: (processor() - cpu) / r.Wall, Unit: "cores", Note: "of the node that takes it, without ears"},
		{Suite: "bridge", Case: "behind_8_devices", N: 8, Value: r.Behind, Unit: "s", Note: "by which something that a device said was taken later than it was due, at most"},
		{Suite: "bridge", Case: "lost_8_devices", N: 8, Value: float64(r.Lost), Unit: "", Note: "frames and messages"},
	}, nil
}
