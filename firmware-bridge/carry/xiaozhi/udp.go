package xiaozhi

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	frame "github.com/locket-dev/locket/firmware-bridge/frame/xiaozhi"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// lateBy is how long the bridge waits for a datagram that others have overtaken.
const lateBy = 300 * time.Millisecond

// open makes a datagram channel with its own keys, and the answer to a hello that contains them. It
// closes the earlier channel, and resets its counts.
func (s *session) open(ctx context.Context) ([]byte, error) {
	host, p, err := net.SplitHostPort(s.udp)
	if err != nil {
		return nil, fmt.Errorf("xiaozhi: %w", err)
	}
	port, err := strconv.Atoi(p)
	if err != nil {
		return nil, fmt.Errorf("xiaozhi: %w", err)
	}
	var key, nonce [16]byte
	rand.Read(key[:])
	rand.Read(nonce[4:8]) // the session's id, which tells apart datagrams of other sessions
	nonce[0] = 1
	binary.BigEndian.PutUint64(nonce[8:], 0)
	if err := s.Dev.Write(ctx, link.Session, nonce[4:8]); err != nil {
		return nil, err
	}
	s.id, s.channel, s.from = rand.Text(), frame.NewUDP(key, nonce), ""
	return frame.HelloUDP(s.id, host, port, key, nonce), nil
}

// datagram handles a piece of sound. Answers go to the address of the latest good one.
func (s *session) datagram(ctx context.Context, n link.Notification) error {
	if !s.greeted || s.channel == nil {
		return nil // it belongs to a closed session, or to a stranger
	}
	list, err := s.channel.Push(n.Data)
	switch {
	case errors.Is(err, frame.ErrOther), errors.Is(err, frame.ErrShort):
		return nil // anybody can send to the port
	case errors.Is(err, frame.ErrSequence):
		s.Report.Doubled++
		return nil // it came before, or was given up and named as lost
	case err != nil:
		s.NoteDamaged(err.Error())
		return nil
	}
	s.from, s.late = n.Char, time.Now()
	return s.takePackets(ctx, list)
}

// takePackets handles packets in order, and names the losses between them.
func (s *session) takePackets(ctx context.Context, list []frame.Arrival) error {
	for _, h := range list {
		if h.Packet != nil {
			if err := s.takeSound(ctx, h.Packet); err != nil {
				return err
			}
			continue
		}
		n := int(h.To - h.From + 1)
		s.Report.Lost += n
		s.Losses.Run(int(h.From), int(h.To), n, s.Now)
		if m := s.sound.Take(false); m != nil { // another piece begins here
			if err := s.PublishLive(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush stops waiting for late datagrams.
func (s *session) flush(ctx context.Context) error {
	if s.channel == nil {
		return nil
	}
	return s.takePackets(ctx, s.channel.Flush())
}

// idle ends a conversation over MQTT. The connection stays open.
func (s *session) idle(ctx context.Context) error {
	err := errors.Join(s.flush(ctx), s.quiet(ctx), s.sound.EndRecording(ctx, s.Conn), s.TellLosses(ctx, true))
	if !s.greeted {
		return err
	}
	s.greeted, s.channel = false, nil
	return errors.Join(err, s.Status(ctx, "offline", "the device is idle"))
}
