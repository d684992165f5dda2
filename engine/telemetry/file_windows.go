package telemetry

import "golang.org/x/sys/windows"

const withoutFollowing = windows.O_FILE_FLAG_OPEN_REPARSE_POINT

// lockName is the file that is locked. It lies beside, since a file that is open
// cannot be replaced.
func lockName(name string) string { return name + ".lock" }
