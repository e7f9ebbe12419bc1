package serve

import (
	"encoding/binary"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// From linux/inet_diag.h.
const (
	diagRequest = 56 // bytes of inet_diag_req_v2
	diagAnswer  = 72 // bytes of inet_diag_msg
	diagUID     = 64 // offset of the user
)

// userOf returns the user of this machine who has the other end of a loopback
// connection, as the kernel's sock_diag reports it (man 7 sock_diag).
func userOf(conn net.Conn) (uid uint32, ok bool) {
	here, there := addressOf(conn.LocalAddr()), addressOf(conn.RemoteAddr())
	if !here.IsValid() || !there.IsValid() || here.Addr().Is4() != there.Addr().Is4() {
		return 0, false
	}
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, false
	}
	defer unix.Close(s)
	b := make([]byte, unix.SizeofNlMsghdr+diagRequest)
	order := binary.NativeEndian
	order.PutUint32(b, uint32(len(b)))
	order.PutUint16(b[4:], unix.SOCK_DIAG_BY_FAMILY)
	order.PutUint16(b[6:], unix.NLM_F_REQUEST)
	r := b[unix.SizeofNlMsghdr:]
	r[0], r[1] = unix.AF_INET6, unix.IPPROTO_TCP
	if here.Addr().Is4() {
		r[0] = unix.AF_INET
	}
	order.PutUint32(r[4:], 1<<32-1) // in any state
	binary.BigEndian.PutUint16(r[8:], there.Port())
	binary.BigEndian.PutUint16(r[10:], here.Port())
	copy(r[12:28], there.Addr().AsSlice())
	copy(r[28:44], here.Addr().AsSlice())
	order.PutUint64(r[48:], 1<<64-1) // no cookie
	if err := unix.Sendto(s, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, false
	}
	got := make([]byte, 4096)
	n, _, err := unix.Recvfrom(s, got, unix.MSG_DONTWAIT) // the kernel answers before the send call returns
	if err != nil || n < unix.SizeofNlMsghdr+diagAnswer || order.Uint16(got[4:]) != unix.SOCK_DIAG_BY_FAMILY {
		return 0, false
	}
	return order.Uint32(got[unix.SizeofNlMsghdr+diagUID:]), true
}

func addressOf(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port())
}
