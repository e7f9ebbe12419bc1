package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/locket-dev/locket/sync/remote/page"
)

// silence is how long a stream may send nothing. The relay sends a sign of life
// every 20 s.
const silence = 70 * time.Second

// Wake calls heard with the state of the space, at first and after each change.
// It returns when ctx is done, when heard returns an error, or when the stream
// breaks. It returns [ErrForbidden] if the caller is no longer a member.
func (s *Space) Wake(ctx context.Context, heard func(page.Head) error) error {
	ctx, closed := s.relay.streaming(ctx)
	defer closed()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	res, err := s.open(ctx)
	if err != nil {
		return fmt.Errorf("listen to %s: %w", s.id, err)
	}
	defer res.Body.Close()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(make([]byte, 0, 512), 4<<10)
	var event, data string
	for lines.Scan() {
		quiet.Reset(silence)
		line := lines.Text()
		if v, ok := strings.CutPrefix(line, "event:"); ok {
			event = strings.TrimSpace(v)
		} else if v, ok := strings.CutPrefix(line, "data:"); ok {
			data = strings.TrimSpace(v)
		}
		if line != "" {
			continue
		}
		switch event {
		case "gone":
			return fmt.Errorf("listen to %s: %w", s.id, ErrForbidden)
		case "head":
			var h page.Head
			if err := json.Unmarshal([]byte(data), &h); err != nil {
				return fmt.Errorf("listen to %s: %w: %v", s.id, ErrAnswer, err)
			}
			if err := heard(h); err != nil {
				return err
			}
		}
		event, data = "", ""
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("listen to %s: %w", s.id, err)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("listen to %s: %w", s.id, err)
	}
	return fmt.Errorf("listen to %s: %w: the stream ended", s.id, ErrFailed)
}

// open starts the stream. It tries a second time if this device's clock is
// wrong.
func (s *Space) open(ctx context.Context) (*http.Response, error) {
	for again := false; ; again = true {
		res, err := s.send(ctx, call{method: "GET", path: s.path("/events")})
		if err != nil {
			return nil, err
		}
		if res.StatusCode == http.StatusOK && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			return res, nil
		}
		_, err = read(res, page.MaxProblem)
		if err == nil {
			return nil, ErrAnswer
		}
		if res.StatusCode != http.StatusUnauthorized || again || !s.relay.adjust(res.Header.Get("Date")) {
			return nil, err
		}
	}
}
