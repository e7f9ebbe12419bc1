// Package screen is the session of a desktop's screen. It sends the content and the title of the
// window in front to the node, unless they are private.
package screen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"reflect"
	"slices"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is the screen's entry in the list of families.
var Family = carry.Family{
	Name: "screen", Short: "Remember what the window in front shows, on a desktop with X11 or Sway",
	Long: `Looks at the window in front every 1.5 s, and publishes it as a photo to the node as the
wearable --name where something has changed, with the window's title where that is another
one. Nothing is taken while the screen is locked or the wearer pauses, of private windows of
browsers, of password managers, of pages whose title asks for a password, and of what --deny
names. A page's password field can't be known.

Of Wayland, compositors of wlroots' family are served. Sway tells where its windows are. With
labwc, Wayfire, river or Hyprland there is a photo where a window fills the screen alone, and
else its title. GNOME and KDE Plasma tell no program which window is in front: use their X11
sessions.`,
	Carrier: carry.Screen, Accepts: carry.WithDeny, Begin: begin,
}

const (
	every   = 1500 * time.Millisecond
	likest  = .99 // at this likeness or above, it is the same picture
	quality = 70  // quality of the JPEG
	maxText = 300 // most runes of a title
)

type session struct {
	*carry.Conn
	next   time.Time
	hidden string      // why nothing is taken now; "?": not known yet
	still  still       // the last look; empty while the screen is hidden
	last   *image.RGBA // the published one; nil: the next one counts as new
	titles titles
	unread bool // a person was told that this screen's pixels can't be read
	unseen bool // a person was told what can't be found out about this desktop
}

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	s := &session{Conn: c, hidden: "?"}
	s.Note("connected", "the screen")
	return s, s.PublishLive(ctx, &wire.Hello{Header: wire.Header{At: time.Now()}, Model: "screen", Firmware: "unknown"})
}

// Handle implements [carry.Session]. A screen sends nothing by itself.
func (s *session) Handle(context.Context, link.Notification) error { return nil }

func (s *session) Tick(ctx context.Context, now time.Time) error {
	if now.Before(s.next) {
		return nil
	}
	s.next = now.Add(every)
	if s.Client.Paused() {
		s.last = nil
		return s.hide(ctx, "paused")
	}
	before, err := s.look(ctx)
	if err != nil {
		return err
	}
	if before.Unseen && !s.unseen {
		s.unseen = true
		s.Note("warning", "this compositor does not tell of notifications, menus and panels: they are in pictures where they lie over the window in front, including those of programs that --deny names")
	}
	why := hides(before, s.Options.Deny)
	if err := s.hide(ctx, why); err != nil || why != "" {
		s.still = still{}
		return err
	}
	stands, named := s.still.look(before, now)
	if !stands {
		s.next = now.Add(settle)
		return nil
	}
	w := *before.Front
	if w.Width == 0 {
		return s.publishTitle(ctx, w, named, false, now)
	}
	b, err := s.Dev.Read(ctx, w.Shot())
	switch {
	case errors.Is(err, link.ErrNoShot):
		return nil
	case errors.Is(err, link.ErrUnread):
		if !s.unread {
			s.unread = true
			s.Note("warning", "only window titles are taken from this screen: %v", err)
		}
		return s.publishTitle(ctx, w, named, false, now)
	case err != nil:
		return err
	}
	// Another window may have come to the front meanwhile.
	after, err := s.look(ctx)
	if err != nil || !reflect.DeepEqual(before, after) {
		return err
	}
	m, err := picture(b)
	if err != nil || alike(s.last, m) > likest {
		return err
	}
	return s.publish(ctx, m, w, named, now)
}

func (s *session) look(ctx context.Context) (d link.Desktop, err error) {
	b, err := s.Dev.Read(ctx, link.ScreenState)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(b, &d)
}

// hide reports why the screen is hidden, if that changes.
func (s *session) hide(ctx context.Context, why string) error {
	if why == s.hidden {
		return nil
	}
	s.hidden = why
	s.Note("screen", "%s", map[bool]string{true: "is remembered", false: "is not remembered: " + why}[why == ""])
	return s.Recording(ctx, why == "", why)
}

func (s *session) publish(ctx context.Context, m *image.RGBA, w link.Window, named bool, now time.Time) error {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality}); err != nil {
		return fmt.Errorf("screen: %w", err)
	}
	parts := (b.Len() + wire.MaxData - 1) / wire.MaxData
	if parts > wire.MaxParts {
		s.NoteDamaged(fmt.Sprintf("screen: a picture of %d bytes", b.Len()))
		return nil
	}
	if err := s.publishTitle(ctx, w, named, true, now); err != nil {
		return err
	}
	i := 0
	for part := range slices.Chunk(b.Bytes(), wire.MaxData) {
		p := &wire.Photo{Header: wire.Header{At: now}, Codec: "jpeg", Data: bytes.Clone(part)}
		if parts > 1 {
			p.Part, p.Parts = i, parts
		}
		if err := s.PublishLive(ctx, p); err != nil {
			return err
		}
		i++
	}
	s.Report.Photos++
	s.last = m
	return nil
}

// publishTitle publishes the window's title if it has not changed between two looks and is new.
func (s *session) publishTitle(ctx context.Context, w link.Window, named, pictured bool, now time.Time) error {
	if !named || !s.titles.news(w.Title, pictured, now) {
		return nil
	}
	title := []rune(w.Title)
	text := string(title[:min(len(title), maxText)])
	return s.PublishLive(ctx, &wire.Words{Header: wire.Header{At: now}, Text: text, Speaker: memory.Cut("screen "+w.App, memory.MaxName)})
}

// Command implements [carry.Session]. A pause takes effect with the next look.
func (s *session) Command(_ context.Context, cmd *wire.Cmd) error {
	switch cmd.Cmd {
	case wire.CmdPause:
		s.next = time.Time{}
	case wire.CmdCapture:
		s.last = nil
	}
	return nil
}

func (s *session) End(ctx context.Context) error { return s.Status(ctx, "offline", "") }
