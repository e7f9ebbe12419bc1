// Package memtrim keeps what a process holds of the machine's memory near
// what it needs.
//
//   - The heap is what Go's allocator has asked the system for. After work a
//     part of it is free, and the system does not know.
//   - The image is the program's own file, as it is mapped. Each page that was
//     ever touched counts as the process's (VmRSS), also those that only a start
//     needs: tables of plugins, of words, code that runs once. None of them was
//     written to, so that the kernel can take them away at any time and read them
//     again; on a machine with little memory it does so when it has to, and then
//     somebody waits.
//   - Mapped files are a database's, of which the same is true.
package memtrim

import "runtime/debug"

// Release returns back what of heap and image is not in use at this moment, and
// of mapped files under the folder files, where that is not empty. The heap is
// collected, which takes about 1 ms for each 2 MB of it that has pointers. What
// of the image is needed again comes back from the page cache, by 64 KB at a
// time; what of files, from the disk. It is safe at any time, and for those who
// compute meanwhile.
func Release(files string) {
	debug.FreeOSMemory()
	releaseMapped(files)
}

// ReleasePages is Release without the heap, which costs next to nothing.
func ReleasePages(files string) { releaseMapped(files) }
