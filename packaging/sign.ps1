# Signs a program for Windows: `sign.ps1 FILE`, with CERTIFICATE (a .pfx file in base64) and PASSWORD in the environment.
param([Parameter(Mandatory)][string]$Program)
$file = Join-Path ([IO.Path]::GetTempPath()) certificate.pfx
[IO.File]::WriteAllBytes($file, [Convert]::FromBase64String($env:CERTIFICATE))
$signtool = Get-ChildItem "${env:ProgramFiles(x86)}\Windows Kits\10\bin\*\x64\signtool.exe" |
  Sort-Object FullName | Select-Object -Last 1
& $signtool.FullName sign /f $file /p $env:PASSWORD /fd SHA256 /td SHA256 `
  /tr http://timestamp.digicert.com $Program
$code = $LASTEXITCODE
Remove-Item $file
exit $code
