package omi

// A notification of a Friend pendant (friend_pendant_connection.dart): frames of 30 bytes of LC3,
// 10 ms at 16 kHz each, commonly three, and 5 bytes whose meaning is not known. It has neither a
// number nor a length, so that what is lost can't be seen.
const (
	friendFrame  = 30
	friendFooter = 5
)

// FriendFrames cuts a notification. A piece of a frame is an error.
func FriendFrames(b []byte) (frames [][]byte, err error) {
	n := len(b) - friendFooter
	if n < friendFrame {
		return nil, malformed("friend", "%d bytes, want a frame of 30 and 5 more", len(b))
	}
	for at := 0; at+friendFrame <= n; at += friendFrame {
		frames = append(frames, b[at:at+friendFrame:at+friendFrame])
	}
	if n%friendFrame != 0 {
		err = malformed("friend", "%d bytes: the last frame is cut short", len(b))
	}
	return frames, err
}
