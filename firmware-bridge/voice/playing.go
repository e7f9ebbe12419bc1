package voice

import "time"

// Playing is an answer that is sent at the pace at which it is played, because a device has a small
// buffer. The zero value is over.
type Playing struct {
	pieces [][]byte
	lasts  time.Duration // duration of each piece
	ahead  time.Duration
	began  time.Time
	sent   int
}

// Play begins to send pieces of sound. Each takes lasts to play, and is sent ahead before it is due
// for playback.
func Play(pieces [][]byte, lasts, ahead time.Duration, now time.Time) Playing {
	return Playing{pieces: pieces, lasts: lasts, ahead: ahead, began: now}
}

// Due returns the pieces that are to be sent by now, and how many came before them.
func (p *Playing) Due(now time.Time) (pieces [][]byte, before int) {
	before = p.sent
	for len(p.pieces) > 0 && time.Duration(p.sent)*p.lasts < now.Sub(p.began)+p.ahead {
		pieces = append(pieces, p.pieces[0])
		p.pieces, p.sent = p.pieces[1:], p.sent+1
	}
	return pieces, before
}

// On reports whether something is still to be sent or played.
func (p *Playing) On(now time.Time) bool {
	return len(p.pieces) > 0 || p.sent > 0 && now.Sub(p.began) < time.Duration(p.sent)*p.lasts
}
