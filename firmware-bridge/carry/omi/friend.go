package omi

import (
	"context"
	"errors"
	"time"

	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// isFriend subscribes to a Friend's sound, where the device is one. A capture does not know what a
// device lacks: there the notifications say it.
func (s *session) isFriend(ctx context.Context) (bool, error) {
	if s.Lossless {
		return false, nil
	}
	err := s.Dev.Subscribe(ctx, frame.FriendChar)
	if errors.Is(err, link.ErrAbsent) {
		return false, nil
	}
	return err == nil, err
}

// beginFriend is begin for a Friend: it has neither battery, photos nor storage, and no clock.
func (s *session) beginFriend(ctx context.Context) error {
	s.muted, s.model, s.codec.Name = s.Client.Paused(), "Friend", "pcm16"
	s.Note("connected", "Friend, LC3 at %d Hz, MTU %d", lc3.Rate, s.Dev.MTU())
	if err := lc3.Find(); err != nil {
		s.Note("warning", "%v", err)
	}
	if err := s.hello(ctx); err != nil {
		return err
	}
	return s.Status(ctx, s.state(), "")
}

// friendly takes a Friend's notification. While the wearer pauses it is thrown away: the pendant
// can't be told to stop.
func (s *session) friendly(ctx context.Context, b []byte) error {
	if s.muted {
		return nil
	}
	frames, err := frame.FriendFrames(b)
	if err != nil {
		s.Spoilt(err.Error())
	}
	for i, f := range frames {
		list, err := s.lc3.Add(f, s.Now.Add(time.Duration(i-len(frames))*lc3.Lasts))
		if err != nil {
			s.Spoilt(err.Error())
			return nil
		}
		for _, m := range list {
			if err := s.Live(ctx, m); err != nil {
				return err
			}
		}
		s.Report.Frames++
		s.Report.Sound += lc3.Lasts
	}
	return nil
}

// lc3Rest ends a Friend's recording.
func (s *session) lc3Rest(ctx context.Context) error {
	list, err := s.lc3.End()
	if err != nil {
		s.Spoilt(err.Error())
	}
	for _, m := range list {
		if err := s.Live(ctx, m); err != nil {
			return err
		}
	}
	return nil
}
