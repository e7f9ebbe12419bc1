package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wire"
)

// plain is Locket's broker and intake, whose journal is a file.
type plain struct {
	file     *os.File
	in       *intake.Intake
	broker   *intake.Broker
	hash     string
	password string
}

func openPlain(dir string) (_ *plain, err error) {
	p := &plain{}
	if p.file, err = createLog(dir); err != nil {
		return nil, err
	}
	c, hash, err := intake.NewDevice(benchDevice)
	if err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	p.hash, p.password = hash, c.Password
	p.in = intake.New(intake.Config{Journal: p})
	if p.broker, err = intake.Listen(p.in, intake.BrokerConfig{Addr: "127.0.0.1:0", Devices: p}); err != nil {
		return nil, errors.Join(err, p.in.Close(), p.file.Close())
	}
	return p, nil
}

func createLog(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(dir, "log"))
}

// Lookup implements intake.Devices.
func (p *plain) Lookup(name string) (string, bool) { return p.hash, name == benchDevice }

// Append implements intake.Journal: one write and one fsync.
func (p *plain) Append(_ context.Context, events []memory.Event) error {
	var b []byte
	for i := range events {
		line, err := json.Marshal(&events[i])
		if err != nil {
			return err
		}
		b = append(append(b, line...), '\n')
	}
	_, err := p.file.Write(b)
	return errors.Join(err, p.file.Sync())
}

func (p *plain) device(context.Context, string) (broker, password string, err error) {
	return "tcp://" + p.broker.Addr().String(), p.password, nil
}

func (p *plain) quiet(context.Context) error { return nil }

func (p *plain) Close() error {
	return errors.Join(p.broker.Close(), p.in.Close(), p.file.Close())
}

// bare is the minimal durable host over the same broker library. It appends payloads as they come,
// together with those that arrived while the disk was busy, syncs them, and acknowledges them, by
// PUBACK and to the device.
type bare struct {
	mqtt.HookBase
	server *mqtt.Server
	addr   string
	file   *os.File
	queue  chan publication
	mu     sync.RWMutex // held for reading while a publication is put into queue
	closed bool
	done   chan error
}

type publication struct {
	client  *mqtt.Client
	packet  uint16
	payload []byte
}

func openBare(dir string) (_ *bare, err error) {
	b := &bare{queue: make(chan publication, 256), done: make(chan error, 1)}
	if b.file, err = createLog(dir); err != nil {
		return nil, err
	}
	b.server = mqtt.New(&mqtt.Options{InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, b.file.Close())
	}
	if err = errors.Join(b.server.AddHook(b, nil), b.server.AddListener(listeners.NewNet("tcp", l))); err != nil {
		return nil, errors.Join(err, l.Close(), b.file.Close())
	}
	b.addr = l.Addr().String()
	go func() {
		err := b.run()
		if err != nil {
			err = errors.Join(err, b.server.Close()) // clients that wait for an answer see the connection close
		}
		b.done <- err
	}()
	if err := b.server.Serve(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// ID implements mqtt.Hook.
func (b *bare) ID() string { return "bare" }

// Provides implements mqtt.Hook.
func (b *bare) Provides(h byte) bool {
	return h == mqtt.OnConnectAuthenticate || h == mqtt.OnACLCheck || h == mqtt.OnPublish
}

// OnConnectAuthenticate accepts everybody.
func (b *bare) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }

// OnACLCheck allows everything.
func (b *bare) OnACLCheck(*mqtt.Client, string, bool) bool { return true }

// OnPublish queues; PUBACK comes when the disk has it.
func (b *bare) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if cl.Net.Inline {
		return pk, nil
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if !b.closed {
		b.queue <- publication{cl, pk.PacketID, pk.Payload}
	}
	return pk, packets.ErrRejectPacket
}

func (b *bare) run() error {
	for p := range b.queue {
		batch := []publication{p}
		for more := true; more && len(batch) < wire.MaxSeqs; {
			select {
			case p, ok := <-b.queue:
				if more = ok; ok {
					batch = append(batch, p)
				}
			default:
				more = false
			}
		}
		if err := b.writeBatch(batch); err != nil {
			return err
		}
	}
	return nil
}

func (b *bare) writeBatch(batch []publication) error {
	var lines []byte
	for _, p := range batch {
		lines = append(append(lines, p.payload...), '\n')
	}
	if _, err := b.file.Write(lines); err != nil {
		return err
	}
	if err := b.file.Sync(); err != nil {
		return err
	}
	acks := map[uint64]*wire.Ack{} // by boot
	for _, p := range batch {
		ack := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Puback}, PacketID: p.packet}
		if err := p.client.WritePacket(ack); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			p.client.Stop(err)
		}
		var head struct{ Boot, Seq uint64 }
		if err := json.Unmarshal(p.payload, &head); err != nil {
			return err
		}
		if acks[head.Boot] == nil {
			acks[head.Boot] = &wire.Ack{Boot: head.Boot}
		}
		acks[head.Boot].Seqs = append(acks[head.Boot].Seqs, head.Seq)
	}
	for _, a := range acks {
		payload, err := wire.EncodeAck(a, wire.JSON)
		if err != nil {
			return err
		}
		if err := b.server.Publish(wire.AckTopic(benchDevice), payload, false, 1); err != nil {
			return err
		}
	}
	return nil
}

func (b *bare) device(context.Context, string) (broker, password string, err error) {
	return "tcp://" + b.addr, "none", nil
}

func (b *bare) quiet(context.Context) error { return nil }

// Close is called once.
func (b *bare) Close() error {
	err := b.server.Close()
	b.mu.Lock()
	b.closed = true
	close(b.queue)
	b.mu.Unlock()
	return errors.Join(err, <-b.done, b.file.Close())
}
