package manual

import (
	"fmt"
	"strings"
)

// The flags are read as the program itself reads them; what the command's own
// completion makes of the rest is asked of PowerShell.
const powerShellScript = `
Register-ArgumentCompleter -Native -CommandName retry -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $flags = @(
@FLAGS@    )
    function Complete-Command($start) {
        $offset = $start - $commandAst.Extent.StartOffset
        $rest = $commandAst.Extent.Text.Substring($offset).PadRight($cursorPosition - $start)
        $rest = $rest.Substring(0, $cursorPosition - $start)
        [System.Management.Automation.CommandCompletion]::CompleteInput($rest, $rest.Length, $null).CompletionMatches
    }
    function Complete-Value($flag, $prefix, $text) {
        $flag.Values | Where-Object { $_.StartsWith($text, [StringComparison]::Ordinal) } | ForEach-Object {
            [System.Management.Automation.CompletionResult]::new($prefix + $_, $_, 'ParameterValue', $_)
        }
    }

    $due = $null
    foreach ($element in @($commandAst.CommandElements | Select-Object -Skip 1)) {
        $word = $element.Extent.Text
        if ($element.Extent.EndOffset -ge $cursorPosition) { break }
        if ($due) { $due = $null; continue }
        if ($word -ceq '--') { return Complete-Command $element.Extent.EndOffset }
        if ($word.StartsWith('--')) {
            $due = $flags | Where-Object { $_.TakesValue -and $_.Name -ceq $word }
        } elseif ($word -cmatch '^-[@BOOL@]*([@VALUE@])$') {
            $short = $Matches[1]
            $due = $flags | Where-Object { $_.Short -ceq $short }
        } elseif (-not $word.StartsWith('-')) {
            return Complete-Command $element.Extent.StartOffset
        }
    }
    if ($due) {
        return Complete-Value $due '' $wordToComplete
    }
    if ($wordToComplete -cmatch '^(--[a-z-]+)=(.*)$') {
        $name, $text = $Matches[1], $Matches[2]
        return Complete-Value ($flags | Where-Object { $_.Name -ceq $name }) "$name=" $text
    }
    if (-not $wordToComplete.StartsWith('-')) {
        return Complete-Command ($cursorPosition - $wordToComplete.Length)
    }
    $flags | Where-Object { $_.Name.StartsWith($wordToComplete, [StringComparison]::Ordinal) } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_.Name, $_.Name, 'ParameterName', $_.Help)
    }
}
`

func completeInPowerShell(b *strings.Builder, flags []Flag) {
	var table strings.Builder
	for _, f := range flags {
		var values []string
		for _, v := range f.Words {
			values = append(values, powerShellQuoted(v))
		}
		short := ""
		if f.Short != 0 {
			short = string(f.Short)
		}
		fmt.Fprintf(&table, "        [pscustomobject]@{ Name = '--%s'; Short = '%s'; TakesValue = $%t; Values = @(%s); Help = %s }\n",
			f.Name, short, f.takesValue(), strings.Join(values, ", "), powerShellQuoted(summary(f)))
	}
	strings.NewReplacer(
		"@FLAGS@", table.String(), "@BOOL@", shorts(flags, false), "@VALUE@", shorts(flags, true),
	).WriteString(b, powerShellScript)
}

func powerShellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
