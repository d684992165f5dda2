package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OOMKills returns how many processes of this program's control group the kernel has killed
// for want of memory, 0 if that is not known. A command is in the same group, unless it has
// moved.
func OOMKills() int {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	return oomKills(string(groups), "/sys/fs/cgroup")
}

// oomKills reads the counter oom_kill of the control groups that /proc/self/cgroup names
// (cgroups(7)): memory.events of version 2, memory.oom_control of version 1. In a container
// the path may be that of the host, and the group is the root of what is mounted.
func oomKills(groups, mount string) int {
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		var files []string
		switch controllers, group := fields[1], fields[2]; {
		case controllers == "":
			for _, version2 := range []string{"", "unified"} {
				files = append(files, filepath.Join(mount, version2, group, "memory.events"),
					filepath.Join(mount, version2, "memory.events"))
			}
		case strings.Contains(","+controllers+",", ",memory,"):
			files = []string{
				filepath.Join(mount, "memory", group, "memory.oom_control"),
				filepath.Join(mount, "memory", "memory.oom_control"),
			}
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			if n := counter(string(data), "oom_kill"); n > 0 {
				return n
			}
			break // the first that is there is that of the group
		}
	}
	return 0
}

// counter is the value of a line "name value".
func counter(text, name string) int {
	for line := range strings.Lines(text) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), " "); key == name {
			n, _ := strconv.Atoi(value)
			return n
		}
	}
	return 0
}
